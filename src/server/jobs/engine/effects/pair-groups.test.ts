// Tests how a REBOOT job splits the endpoints of a unit into groups that restart together. [contract 12.when]
import { expect, test } from 'vitest'
import { pairGroups } from './commands.ts'

const endpoint = (id: string, leader: string, connected = 1) => ({
  ...{ id, serial: id, leader, apart: 0, connected },
  ...{ model: 'NF19B1', actions: null },
})

test('each pair group is a group of its own, and begins with a targeted endpoint that is connected', () => {
  const endpoints = [
    endpoint('a', 'b', 0),
    endpoint('b', 'b'),
    endpoint('c', 'c'),
    endpoint('d', 'b', 0),
    endpoint('e', 'b'),
  ]
  const groups = pairGroups(endpoints, ['b', 'c', 'd'])
  expect(groups.map((group) => group.map(({ id }) => id))).toEqual([['b', 'd', 'e', 'a'], ['c']])
})
