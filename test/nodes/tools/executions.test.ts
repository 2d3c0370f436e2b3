// The checker of commands accepts a right history and finds each planted mistake.
import { expect, test } from 'vitest'
import { checkExecutions } from '../../support/nodes/trial/checkers/executions.ts'

const at = (commandId: string, time: number) => ({ commandId, endpointId: 'device', at: time })
const stored = (id: string, state: string) => ({ id, type: 'REBOOT', state })
const history = (executed: readonly string[], finished: readonly string[] = []) => ({
  executions: executed.map((id) => at(id, 1)),
  deliveries: executed.map((id) => at(id, 1)),
  finished: new Map(finished.map((id) => [id, 2])),
})

test('a command that succeeded was executed once, and one that expired perhaps', () => {
  const commands = [stored('a', 'SUCCEEDED'), stored('b', 'EXPIRED'), stored('c', 'EXPIRED')]
  expect(checkExecutions(history(['a', 'b'], ['a']), commands, ['a', 'b', 'c'])).toEqual([])
})

test.each([
  ['a command that was executed twice', history(['a', 'a']), [stored('a', 'FAILED')], [], /executed 2 times/],
  ['a success without execution', history([]), [stored('a', 'SUCCEEDED')], [], /SUCCEEDED, but was executed 0 times/],
  ['a command that does not end', history([]), [stored('a', 'SENT')], [], /is still SENT/],
  ['a lost success', history(['a'], ['a']), [stored('a', 'EXPIRED')], [], /was acknowledged, but it is EXPIRED/],
  ['a lost command', history([]), [], ['a'], /a was acknowledged, but is not in the database/],
  ['a command from nowhere', history(['a']), [], [], /executed, but is not in the database/],
  [
    'a finished command that is sent again',
    { ...history(['a'], ['a']), deliveries: [at('a', 1), at('a', 3)] },
    [stored('a', 'SUCCEEDED')],
    [],
    /sent again after its success/,
  ],
])('%s is found', (_, devices, commands, requested, sentence) => {
  const problems = checkExecutions(devices, commands, requested)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(sentence)
})
