// Tests which request bodies the form of a channel makes.
import { expect, test } from 'vitest'
import {
  addressesProblem,
  type ChannelDraft,
  channelDraftOf,
  createBody,
  isChannelComplete,
  newChannelDraft,
  updateBody,
  withKind,
} from './channel-draft.ts'

const draft = (changes: Partial<ChannelDraft>): ChannelDraft => ({ ...newChannelDraft, name: ' Ops ', ...changes })

test('a webhook sends its URL, and PagerDuty its integration key', () => {
  expect(createBody(draft({ secret: ' https://a.example/x ' }))).toMatchObject({
    name: 'Ops',
    kind: 'webhook',
    url: 'https://a.example/x',
  })
  const pagerDuty = createBody(draft({ kind: 'pagerduty', secret: 'R0UT1NG' }))
  expect(pagerDuty.routingKey).toBe('R0UT1NG')
  expect(pagerDuty.url).toBeUndefined()
})

test('an empty secret keeps the stored one, and is refused for a new channel', () => {
  const body = updateBody(draft({ secret: '' }))
  expect(body).not.toHaveProperty('url')
  expect(isChannelComplete(draft({}), true)).toBe(true)
  expect(isChannelComplete(draft({}), false)).toBe(false)
})

test('e-mail addresses are separated by lines, commas or spaces, and checked', () => {
  const email = draft({ kind: 'email', addresses: 'a@example.org\nb@example.org, c@example.org' })
  expect(createBody(email).to).toEqual(['a@example.org', 'b@example.org', 'c@example.org'])
  expect(isChannelComplete(email, false)).toBe(true)
  expect(addressesProblem('a@example.org nonsense')).toContain('nonsense')
  expect(isChannelComplete(draft({ kind: 'email', addresses: 'nonsense' }), false)).toBe(false)
  const many = Array.from({ length: 31 }, (_, i) => `a${i}@example.org`).join('\n')
  expect(addressesProblem(many)).toContain('30')
})

test('hours and heartbeat that are switched off are sent as null, so that they are cleared', () => {
  expect(updateBody(draft({}))).toMatchObject({ hours: null, heartbeatMinutes: null })
  const hours = { days: ['mon' as const], from: '08:00', to: '18:00' }
  expect(updateBody(draft({ hours, heartbeatMinutes: 5 }))).toMatchObject({ hours, heartbeatMinutes: 5 })
  expect(isChannelComplete(draft({ secret: 'https://a.example', hours: { ...hours, days: [] } }), false)).toBe(false)
})

test('a stored channel makes the same settings again', () => {
  const stored = {
    id: '2',
    name: 'Ops',
    kind: 'webhook' as const,
    url: 'https://a.example/…',
    events: ['incident.opened' as const],
    minSeverity: 'CRITICAL' as const,
    rules: ['device.offline' as const],
    regionIds: [3],
    locationIds: [],
    enabled: true,
    waiting: 0,
  }
  expect(updateBody(channelDraftOf(stored))).toEqual({
    name: 'Ops',
    events: ['incident.opened'],
    minSeverity: 'CRITICAL',
    rules: ['device.offline'],
    regionIds: [3],
    locationIds: [],
    hours: null,
    heartbeatMinutes: null,
  })
})

test('a channel to people has messages to assignees, of every severity, and no target and no heartbeat', () => {
  const people = withKind(draft({ secret: 'https://a.example', heartbeatMinutes: 5 }), 'people')
  expect(isChannelComplete(people, false)).toBe(true)
  expect(createBody(people)).toEqual({
    name: 'Ops',
    kind: 'people',
    events: ['incident.assigned'],
    minSeverity: 'INFO',
    rules: [],
    regionIds: [],
    locationIds: [],
    hours: null,
    heartbeatMinutes: null,
  })
  const back = withKind(people, 'email')
  expect(back).toMatchObject({ events: newChannelDraft.events, minSeverity: 'WARNING' })
  const monthly = { ...back, events: [...back.events, 'report.month' as const] }
  expect(withKind(monthly, 'slack').events).toEqual(newChannelDraft.events)
})
