// The banner over the full width while the server cannot be reached: what is shown below it may be out of date.
import { WarnIcon } from '../parts/page/icons.tsx'
import { useNow } from '../parts/text/now.ts'
import { ageText, clockTime } from '../parts/text/time.tsx'
import classes from './shell.module.css'

export function ConnectionBanner({ lastUpdateMs }: { readonly lastUpdateMs: number }) {
  const now = useNow(1000)
  return (
    <div className={classes.banner}>
      <WarnIcon />
      <span>
        <strong>Connection lost.</strong> Last update {clockTime(lastUpdateMs)}
        <span aria-hidden="true"> ({ageText(lastUpdateMs, now)} ago)</span>. Reconnecting…
      </span>
    </div>
  )
}
