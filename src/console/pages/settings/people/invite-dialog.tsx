// Invites a new person, or makes a new link for a known one, in a dialog that ends with the link. [contract 11.local]
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../../api.ts'
import type { ListedRegion } from '../../../domain/fleet/site/sites.ts'
import { type Person, personName } from '../../../domain/people/person/person.ts'
import { ErrorText } from '../../../parts/page/page.tsx'
import { InviteLink } from './invite-link.tsx'
import { NewPersonForm } from './person-form.tsx'

interface InviteDialogProps {
  /** The person to invite. If absent, the form asks for a new person first. */
  readonly person: Person | undefined
  readonly regions: readonly ListedRegion[]
  readonly opened: boolean
  readonly onClose: () => void
}

export function InviteDialog({ person: known, regions, opened, onClose }: InviteDialogProps) {
  const [created, setCreated] = useState<Person>()
  const person = known ?? created
  const invite = useWrite('usersInvite', { quiet: true })
  const createLink = (id: string) => invite.mutate({ input: { id } })
  const clear = () => {
    setCreated(undefined)
    invite.reset()
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={clear}
      title={invite.data ? 'Send this link' : known ? 'Create a sign-in link' : 'Invite a person'}
      size={invite.data ? 'lg' : 'md'}
    >
      {person && invite.data && <InviteLink person={person} link={invite.data} onDone={onClose} />}
      {person && !invite.data && (
        <NewLink
          person={person}
          isNew={known === undefined}
          isBusy={invite.isPending}
          error={invite.error}
          onCreate={() => createLink(person.id)}
          onClose={onClose}
        />
      )}
      {!person && (
        <NewPersonForm
          regions={regions}
          onClose={onClose}
          onCreated={(made) => {
            setCreated(made)
            createLink(made.id)
          }}
        />
      )}
    </Modal>
  )
}

interface NewLinkProps {
  readonly person: Person
  readonly isNew: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onCreate: () => void
  readonly onClose: () => void
}

/** A new person gets here only while the link is being made, or if that failed. */
const NewLink = ({ person, isNew, isBusy, error, onCreate, onClose }: NewLinkProps) => (
  <Stack>
    <Text style={{ overflowWrap: 'anywhere' }}>
      {isNew ? (
        <>
          <b>{person.email}</b> was added.
        </>
      ) : (
        <>
          <b>{personName(person)}</b> gets a link that signs in once, within 7 days. Earlier links of this person stop
          working.
        </>
      )}
    </Text>
    <ErrorText error={error} />
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        {isNew ? 'Close' : 'Cancel'}
      </Button>
      <Button loading={isBusy} onClick={onCreate} data-autofocus>
        Create link
      </Button>
    </Group>
  </Stack>
)
