// Tests which operations of events are in the list of open operations.
import { expect, test } from 'vitest'
import { withOperation } from './operation-patches.ts'

test('the list of operations has the open ones only', () => {
  const reboot = {
    ...{ id: '1', type: 'REBOOT' as const, endpointId: 'a', state: 'QUEUED' as const },
    ...{ createdAt: '', updatedAt: '', deadline: '' },
  }
  const open = withOperation([], reboot)
  expect(open).toEqual([reboot])
  const sent = withOperation(open, { ...reboot, state: 'SENT' })
  expect(sent).toEqual([{ ...reboot, state: 'SENT' }])
  expect(withOperation(sent, { ...reboot, state: 'SUCCEEDED' })).toEqual([])
  expect(withOperation(open, { ...reboot, id: '2', state: 'EXPIRED' })).toBe(open)
})
