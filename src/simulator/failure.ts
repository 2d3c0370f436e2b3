// What keeps a simulator from running, as a sentence for the person who started it.
import { ApiError } from '../client/client.ts'

export class FleetError extends Error {}

/** The same trouble in words that say what to do; what nobody expected stays as it is. */
export function explained(error: unknown, { url, org }: { url: string; org: string }): unknown {
  if (error instanceof ApiError) {
    if (error.status === 401)
      return new FleetError(
        `The service at ${url} does not accept this --key. Create one there with "keys create", or check --url.`,
      )
    if (error.status === 403)
      return new FleetError('This --key may not write. Create one with --scope read --scope write.')
    if (error.status === 404 && error.message.trim() === 'Requested resource not found')
      return new FleetError(`This --key sees no organisation ${org}. Check --org.`)
    return new FleetError(`The service did not agree: ${error.message.replace(/\.?$/, '.')}`)
  }
  // What fetch throws when nothing answers, or when it stops in the middle.
  if (error instanceof TypeError && error.cause) {
    const { code, message } = error.cause as NodeJS.ErrnoException
    return new FleetError(
      `The service at ${url} does not answer (${code ?? message}). Start one with "roomkeeper serve", or check --url; what was made so far is kept.`,
    )
  }
  return error
}
