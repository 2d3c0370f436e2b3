// Lists the person's own sessions; each can be ended. [contract 11.local]
import { Button, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { notifyError, queryClient } from '../../api.ts'
import { ownSessions, signOutSession } from '../../domain/people/person/own-sessions.ts'
import { SessionsTable } from '../../domain/people/person/sessions-table.tsx'
import { Section } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { signOut } from '../../session.ts'

export function OwnSessionsSection() {
  const { sessions } = useSuspenseQuery(ownSessions).data
  const others = sessions.filter(({ current }) => !current)
  const end = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids) await signOutSession(id)
    },
    onSuccess: (_, ids) => notifications.show({ message: `${plural(ids.length, 'session')} ended`, color: 'green' }),
    onError: (error) => notifyError(error),
    onSettled: () => queryClient.invalidateQueries(ownSessions),
  })
  return (
    <Section
      title="Sessions"
      actions={
        others.length > 0 && (
          <Button
            variant="default"
            size="xs"
            loading={end.isPending}
            onClick={() => end.mutate(others.map(({ id }) => id))}
          >
            Sign out everywhere else
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        A session ends after 12 hours without use. Sign out sessions you don’t recognise.
      </Text>
      <SessionsTable
        sessions={sessions}
        action={({ id, current, browser }) => (
          <Button
            variant="default"
            size="compact-xs"
            mih={24}
            onClick={() => (current ? void signOut().catch(notifyError) : end.mutate([id]))}
            aria-label={`Sign out: ${current ? 'this session' : `${browser ?? 'unknown browser'}, session ${id}`}`}
          >
            Sign out
          </Button>
        )}
      />
    </Section>
  )
}
