// Shows a new sign-in link once, ready to copy, and says whether it was mailed. [contract 11.local]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { type Person, personName } from '../../../domain/people/person/person.ts'
import { CheckIcon, CopyIcon } from '../../../parts/page/icons.tsx'
import { ShownOnceField } from '../../../parts/page/shown-once-field.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

export type NewSignInLink = ResponseOf<Operations['usersInvite']>

interface InviteLinkProps {
  readonly person: Person
  readonly link: NewSignInLink
  readonly onDone: () => void
}

export function InviteLink({ person, link: { url, expiresAt, mailed }, onDone }: InviteLinkProps) {
  const { copied, copy, error } = useClipboard({ timeout: 4000 })
  return (
    <Stack>
      <Text style={{ overflowWrap: 'anywhere' }}>
        {mailed ? (
          <>
            The link was sent to <b>{person.email}</b>.
          </>
        ) : (
          <>
            Send this link to <b>{personName(person)}</b>. It was not mailed.
          </>
        )}{' '}
        The link works once; they add a passkey after signing in.
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <ShownOnceField label="Sign-in link" value={url} />
        <Button leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => copy(url)} data-autofocus>
          {copied ? 'Copied' : error ? 'Select the link' : 'Copy link'}
        </Button>
      </Group>
      <Text fz="sm" c="dimmed">
        Valid until <DateTime at={expiresAt} />. Anyone who has the link can use it, and it is not shown again. Earlier
        links of this person no longer work.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
