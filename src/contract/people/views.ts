// Saved views: the filters, the order and the columns of a list of the console under a name. [contract 11.views]

import Type from 'typebox'
import { largeBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, Name, OneOf, OptionalOrNull, Shape } from '../shape.ts'

/** The lists of the console that have views. Each is the path of its page. */
export const viewPages = ['rooms', 'devices', 'incidents', 'jobs', 'audit'] as const
export type ViewPage = (typeof viewPages)[number]

/** A person or a key has at most this many views of its own. */
export const maxOwnViews = 50
/** An organisation has at most this many shared views. */
export const maxSharedViews = 200
export const maxViewQueryLength = 2000

const id = Type.String({ description: 'Identifier of the view.' })
const query = Type.String({
  maxLength: maxViewQueryLength,
  format: 'line',
  description: "Filters and order as in the address of the list, without the question mark: 'state=OFFLINE&sort=name'.",
})
const columns = Type.Array(Type.String({ minLength: 1, maxLength: 40, format: 'line' }), {
  minItems: 1,
  maxItems: 60,
  description: 'The columns of the list, by their ids. Without it the width of the window decides.',
})
const shared = Type.Boolean({
  description: 'Whether everybody in the organisation has the view. Setting, changing and clearing it needs write.',
})

const SavedView = Shape('SavedView', {
  id,
  name: Name('view'),
  page: OneOf(viewPages, 'The list.'),
  query,
  columns: Type.Optional(columns),
  shared,
  version: Int32('Version of the view, for If-Match.'),
  createdBy: Shape('SavedViewAuthor', { type: Type.String(), id: Type.String(), name: Type.String() }),
})

const example = {
  id: '7',
  name: 'Offline in Oslo',
  page: 'rooms' as const,
  query: 'state=OFFLINE&location=3',
  columns: ['name', 'state', 'people'],
  shared: true,
  version: 1,
  createdBy: { type: 'USER', id: '4', name: 'ada@example.org' },
}

export const viewOperations = {
  viewsList: operation({
    method: 'GET',
    path: '/views',
    tag: 'Views',
    scope: 'read',
    summary: "List the caller's own views and the shared views",
    response: ListOf('SavedViewList', 'views', SavedView),
    example: { response: { views: [example] } },
  }),
  viewsCreate: operation({
    method: 'POST',
    path: '/views',
    tag: 'Views',
    scope: 'read',
    summary: 'Save a view of a list',
    description: `A view is the caller's own unless it is shared, which needs write. A caller has at most ${maxOwnViews} views of its own, an organisation at most ${maxSharedViews} shared ones.`,
    body: Shape('ViewsCreateRequest', {
      name: Name('view'),
      page: OneOf(viewPages, 'The list.'),
      query,
      columns: OptionalOrNull(columns),
      shared: Type.Optional(shared),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: SavedView,
    versioned: true,
    audit: { category: 'USER', type: 'VIEW_CREATED' },
    example: {
      body: { name: example.name, page: example.page, query: example.query, columns: example.columns, shared: true },
      response: example,
    },
  }),
  viewsUpdate: operation({
    method: 'PUT',
    path: '/views/{id}',
    tag: 'Views',
    scope: 'read',
    summary: 'Change or share a view',
    description:
      'An absent key keeps its value. `columns` null clears the columns. A shared view, and sharing one, needs write; a view that is no longer shared becomes the view of the caller. At least one key is needed.',
    params: { id },
    body: Shape(
      'ViewsUpdateRequest',
      {
        name: Type.Optional(Name('view')),
        query: Type.Optional(query),
        columns: OptionalOrNull(columns),
        shared: Type.Optional(shared),
      },
      { minProperties: 1 },
    ),
    bodyLimitBytes: largeBodyBytes,
    response: SavedView,
    versioned: true,
    ifMatch: true,
    audit: { category: 'USER', type: 'VIEW_UPDATED' },
    example: {
      params: { id: '7' },
      body: { name: 'Offline in Oslo and Bergen' },
      response: { ...example, name: 'Offline in Oslo and Bergen', version: 2 },
    },
  }),
  viewsDelete: operation({
    method: 'DELETE',
    path: '/views/{id}',
    tag: 'Views',
    scope: 'read',
    summary: 'Delete a view; a shared one needs write',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'USER', type: 'VIEW_DELETED' },
    example: { params: { id: '7' }, response: {} },
  }),
}
