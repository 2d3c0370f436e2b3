// The enrolment codes of rooms as cards to cut out: eight on a page, on A4 or Letter.
import { Button, Group, Text } from '@mantine/core'
import type { RoomCode } from '../../../csv/import-rooms.ts'
import { DownloadIcon } from '../../parts/page/icons.tsx'
import { Page } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './code-sheet.module.css'
import { QrCode } from './qr-code.tsx'

const cardsOnPage = 8

interface CodeSheetProps {
  readonly codes: readonly RoomCode[]
  readonly onSave: () => void
  readonly onClose: () => void
}

export function CodeSheet({ codes, onSave, onClose }: CodeSheetProps) {
  const pages = Array.from({ length: Math.ceil(codes.length / cardsOnPage) }, (_, index) =>
    codes.slice(index * cardsOnPage, (index + 1) * cardsOnPage),
  )
  const actions = (
    <>
      <Button variant="default" onClick={onClose}>
        Back
      </Button>
      <Button variant="default" leftSection={<DownloadIcon />} onClick={onSave}>
        Codes as CSV
      </Button>
      <Button onClick={() => print()}>Print</Button>
    </>
  )
  return (
    <Page title="Enrolment codes" actions={actions}>
      <style>{'@page { margin: 10mm }'}</style>
      <Group className={classes.hint}>
        <Text c="dimmed">
          {plural(codes.length, 'code')} on {plural(pages.length, 'page')}, A4 or Letter. Print in actual size, and cut
          along the dashed lines. Keep them safe: a code enrols devices in its room.
        </Text>
      </Group>
      <div className={classes.sheet}>
        {pages.map((page, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pages are never reordered
          <ul key={index} className={classes.page} aria-label={`Page ${index + 1}`}>
            {page.map((code) => (
              <CodeCard key={code.roomId} {...code} />
            ))}
          </ul>
        ))}
      </div>
    </Page>
  )
}

const CodeCard = ({ room, location, region, code, url }: RoomCode) => (
  <li className={classes.card}>
    <QrCode text={url} label={`QR code of ${room}`} className={classes.qr} />
    <div className={classes.texts}>
      <p className={classes.room}>{room}</p>
      <p className={classes.site}>{[location, region].filter((name) => name !== '').join(', ')}</p>
      <p className={classes.code}>{code}</p>
      <p className={classes.address}>{url.replace(/^https?:\/\//, '').replace(/#.*$/, '')}</p>
    </div>
  </li>
)
