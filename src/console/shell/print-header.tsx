// The header of a printed page: organisation, regions, view, time and person; and the margins of its sheets, with page numbers.
import { regionsLine, useOwnRegionNames } from '../domain/fleet/site/own-regions.ts'
import { useListSearch, useViews } from '../domain/people/view/saved-view.ts'
import { useIsPrinting } from '../parts/table/printed-table.tsx'
import { fullTime } from '../parts/text/time.tsx'
import { useSession } from '../session.ts'
import classes from './shell.module.css'

export const PrintHeader = () => useIsPrinting() && <PrintedHeader />

function PrintedHeader() {
  const { org, user, key } = useSession()
  const regions = useOwnRegionNames()
  const { views } = useViews()
  const { view: viewId } = useListSearch()
  const view = views.find(({ id }) => id === viewId)
  const time = fullTime(Date.now())
  const title = document.title.replace(/ · Roomkeeper$/, '')
  return (
    <div className={classes.printHeader} data-print-header>
      <style>{sheetRules({ org: org.name, title, time })}</style>
      <span>
        <b>{org.name}</b>
        {regions && ` · ${regionsLine(regions)}`}
        {view && ` · View: ${view.name}`}
      </span>
      <span>
        Printed {time} by {user?.name ?? user?.email ?? key?.name}
      </span>
    </div>
  )
}

interface SheetTexts {
  readonly org: string
  readonly title: string
  readonly time: string
}

/** The margins of the sheets. Browsers that do not know margin boxes print the header of the first sheet only. */
const sheetRules = ({ org, title, time }: SheetTexts): string => `
@page {
  margin: 16mm 12mm 14mm;
  @top-left { content: ${cssString(org)}; ${marginFont} }
  @top-right { content: ${cssString(title)}; ${marginFont} }
  @bottom-left { content: ${cssString(time)}; ${marginFont} }
  @bottom-right { content: "Page " counter(page) " of " counter(pages); ${marginFont} }
}
@page :first {
  @top-left { content: "" }
  @top-right { content: "" }
}`
const marginFont = 'font: 8pt system-ui, sans-serif; color: #444'

/** Letters and digits are kept, and everything else is escaped by its number: a name can hold quotes and line breaks. */
const cssString = (text: string): string =>
  `"${text.replace(/[^\p{L}\p{N} ]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `)}"`
