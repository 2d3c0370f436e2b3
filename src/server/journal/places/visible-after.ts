// Refuses writes after which their caller would no longer see what they wrote. [contract 11.access]
import { Failure } from '../../core/failure.ts'
import type { HandleReach } from '../../db/handles.ts'

/** `regionId` is where the thing would be after the write, and `subject` names it: "a room without a location". */
export function requireVisibleAfter(
  { access }: HandleReach,
  regionId: number | null | undefined,
  subject: string,
  advice: string,
): void {
  if (access.sees(regionId)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `you would not see ${subject}, because your access is limited to regions. ${advice}`,
  )
}
