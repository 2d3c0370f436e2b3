// Shows the sessions of a person to an owner who is about to end them.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../../api.ts'
import { SessionsTable } from '../../../domain/people/person/sessions-table.tsx'
import { ErrorText } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'

export function PersonSessions({ id }: { readonly id: string }) {
  const { data, error, isPending } = useQuery({ ...operationQuery('userSessionsList', { id }), staleTime: 0 })
  if (isPending) return <Loading />
  if (error) return <ErrorText error={error} />
  const { sessions } = data.body
  return sessions.length === 0 ? (
    <Text fz="sm" c="dimmed" mt="xs">
      Not signed in anywhere
    </Text>
  ) : (
    <SessionsTable sessions={sessions} />
  )
}
