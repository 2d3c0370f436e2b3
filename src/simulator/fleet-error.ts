// Errors that stop a simulator, with messages for the person who started it.
import { ApiError } from '../client/client.ts'

export class FleetError extends Error {}

/** Turns an expected error into a FleetError that says what to do; any other error is returned unchanged. */
export function explainFleetError(error: unknown, { url, org }: { url: string; org: string }): unknown {
  if (error instanceof ApiError) {
    if (error.status === 401)
      return new FleetError(
        `The service at ${url} does not accept this --key. Create a key with "roomkeeper keys create", or check --url.`,
      )
    if (error.status === 403)
      return new FleetError('This --key has no write access. Create a key with --scope read --scope write.')
    if (error.status === 404 && error.message.trim() === 'Requested resource not found')
      return new FleetError(`This --key has no access to organisation ${org}. Check --org.`)
    return new FleetError(`The service refused a request: ${error.message.replace(/\.?$/, '.')}`)
  }
  // Fetch throws a TypeError with a cause if the service does not answer or drops the connection.
  if (error instanceof TypeError && error.cause) {
    const { code, message } = error.cause as NodeJS.ErrnoException
    return new FleetError(
      `The service at ${url} does not answer (${code ?? message}). Start it with "roomkeeper serve", or check --url. Run the command again to continue.`,
    )
  }
  return error
}
