// The sessions of the signed-in person. [contract 11.local]
import { type OwnSession, ownSessionsPath } from '../../../../contract/people/sign-in.ts'
import { consoleRequest } from '../../../console-request.ts'

export const ownSessions = {
  queryKey: ['ownSessions'],
  queryFn: () => consoleRequest<{ readonly sessions: readonly OwnSession[] }>('GET', ownSessionsPath),
}

export const signOutSession = (id: string): Promise<unknown> => consoleRequest('DELETE', `${ownSessionsPath}/${id}`)
