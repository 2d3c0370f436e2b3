// Shows the link of an invitation once, ready to copy, because the server sends no mail. [contract 11.local]
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { type Person, personName } from '../../../domain/person/person.ts'
import { CheckIcon, CopyIcon } from '../../../parts/page/icons.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

export type Invitation = ResponseOf<Operations['usersInvite']>

interface InviteLinkProps {
  readonly person: Person
  readonly invitation: Invitation
  readonly onDone: () => void
}

export function InviteLink({ person, invitation: { url, expiresAt, mailed }, onDone }: InviteLinkProps) {
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
            Send this link to <b>{personName(person)}</b>. Roomkeeper sends no mail.
          </>
        )}{' '}
        With the link they sign in once and add a passkey.
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <TextInput
          label="Sign-in link"
          value={url}
          readOnly
          flex={1}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
          onFocus={(event) => event.currentTarget.select()}
          autoComplete="off"
          spellCheck={false}
        />
        <Button leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => copy(url)} data-autofocus>
          {copied ? 'Copied' : error ? 'Select the link' : 'Copy link'}
        </Button>
      </Group>
      <Text fz="sm" c="dimmed">
        Works once, until <DateTime at={expiresAt} />. Anyone who has the link can use it, and it is not shown again.
        Earlier links of this person no longer work.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
