// Topic filters with wildcards, as MQTT 3.1.1 defines them in section 4.7.
import { expect, test } from 'vitest'
import { isTopicFilter, TopicTree } from './topic-tree.ts'

test.each([
  ['a/b/c', 'a/b/c', true],
  ['a/b/c', 'a/b', false],
  ['a/+/c', 'a/b/c', true],
  ['a/+', 'a/b/c', false],
  ['+/+/BTtoMQTT/A4', 'home/OMG/BTtoMQTT/A4', true],
  ['a/#', 'a/b/c', true],
  ['a/#', 'a', true],
  ['#', 'a/b', true],
  ['#', '$SYS/broker', false],
  ['+/broker', '$SYS/broker', false],
  ['$SYS/#', '$SYS/broker', true],
  ['+', '/a', false],
  ['/+', '/a', true],
  ['a/+', 'a/', true],
])('%s for %s: %s', (filter, topic, expected) => {
  const tree = new TopicTree<string>()
  expect(tree.add(filter, 'x')).toBe(true)
  expect(tree.match(topic)).toEqual(expected ? ['x'] : [])
  expect(tree.delete(filter, 'x')).toBe(true)
  expect([tree.match(topic), tree.size]).toEqual([[], 0])
})

test('a filter is gone with its last value, and others stay', () => {
  const tree = new TopicTree<string>()
  expect([tree.add('a/+', '1'), tree.add('a/+', '2'), tree.add('a/b', '3'), tree.size]).toEqual([true, false, true, 2])
  expect(tree.match('a/b').toSorted()).toEqual(['1', '2', '3'])
  expect([tree.delete('a/+', '1'), tree.delete('a/+', '1'), tree.delete('x/y', '1')]).toEqual([false, false, false])
  expect(tree.match('a/b').toSorted()).toEqual(['2', '3'])
  expect(tree.delete('a/+', '2')).toBe(true)
  expect([tree.match('a/b'), tree.match('a/c'), tree.size]).toEqual([['3'], [], 1])
})

test('a filter with a wildcard inside a level, or # before the end, is no topic filter', () => {
  expect(['a/b', '+/+', 'a/#', '#', '/'].filter((text) => !isTopicFilter(text, 255))).toEqual([])
  expect(['a+/b', 'a/#/b', '', 'a\nb', 'x'.repeat(256)].filter((text) => isTopicFilter(text, 255))).toEqual([])
})
