// Tests what devices can do, by the table of models and by what they report. [contract 5.1.actions]
import { expect, test } from 'vitest'
import { actionsOf, defaultActions, models } from './models.ts'

test('a reported list wins over the table of models; without one a device has the first four actions [contract 5.1.actions]', () => {
  const four = ['reboot', 'message', 'logs', 'config']
  expect(defaultActions).toEqual(four)
  for (const model of [...Object.keys(models), 'unknown', 'toString']) {
    expect(actionsOf(model, undefined), model).toEqual(four)
    expect(actionsOf(model, null), model).toEqual(four)
    expect(actionsOf(model, []), model).toEqual([])
    expect(actionsOf(model, ['power', 'reboot']), model).toEqual(['power', 'reboot'])
  }
})
