// Says that a place is silenced now, since when and why, with a button that ends the silence.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { BellOffIcon } from '../../../parts/page/icons.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { usePermissions } from '../../../session.ts'
import { useEndSilence } from './end-silence.tsx'
import {
  isActiveSilence,
  isSamePlace,
  type ListedSilence,
  mayEndSilence,
  type SilencedPlace,
  silencesQuery,
  silenceTimeText,
} from './silence.ts'

/** `places` are the place itself and those that contain it. */
export function SilenceNotice({ places }: { readonly places: readonly SilencedPlace[] }) {
  const silences = useQuery(silencesQuery()).data?.body.silences ?? []
  const permissions = usePermissions()
  const now = useNow(60_000)
  const { ask, dialog } = useEndSilence()
  const active = silences.filter(
    (one) => isActiveSilence(one, now) && places.some((place) => isSamePlace(place, one.place)),
  )
  return (
    <>
      {active.map((silence) => (
        <Notice
          key={silence.id}
          tone="quiet"
          icon={<BellOffIcon size={16} />}
          action={
            mayEndSilence(silence, permissions) && (
              <Button variant="subtle" size="compact-sm" onClick={() => ask(silence)}>
                End silence
              </Button>
            )
          }
        >
          <b>{titleOf(silence)}</b> {silenceTimeText(silence, now)} · {silence.reason} ({silence.createdBy.name})
        </Notice>
      ))}
      {dialog}
    </>
  )
}

/** A silence of some rules must not read as if nothing could open. */
const titleOf = ({ rules }: ListedSilence): string =>
  rules ? `Silenced for ${rules.map((rule) => ruleNames[rule]).join(', ')} only.` : 'Silenced.'

interface PlaceIds {
  readonly endpointId?: string | undefined
  readonly roomId?: number | undefined
  readonly locationId?: number | undefined
  readonly regionId?: number | undefined
}

/** The places that contain a device or a room, itself included. */
export const containingPlaces = ({ endpointId, roomId, locationId, regionId }: PlaceIds): SilencedPlace[] => [
  { all: true },
  ...(endpointId === undefined ? [] : [{ endpointId }]),
  ...(roomId === undefined ? [] : [{ roomId }]),
  ...(locationId === undefined ? [] : [{ locationId }]),
  ...(regionId === undefined ? [] : [{ regionId }]),
]
