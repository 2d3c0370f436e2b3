// The filters in the addresses of lists: the router keeps them, the pages read them, and saved views have them.

export const roomParams = ['q', 'region', 'location', 'state', 'air', 'people', 'tag', 'profile', 'field'] as const
export const deviceParams = [
  ...(['q', 'kind', 'maker', 'model', 'power', 'since', 'via', 'source', 'firmware', 'connected', 'update'] as const),
  ...(['region', 'location', 'profile', 'settings', 'field'] as const),
] as const
export const incidentParams = [
  ...(['q', 'state', 'severity', 'rule', 'region', 'location', 'assignee'] as const),
  // Links of the insights set these: the days of the opening, a tag of rooms, and a cause such as ROOM:7.
  ...(['from', 'to', 'tag', 'cause'] as const),
] as const
export const jobParams = ['q', 'state'] as const
export const auditParams = ['q', 'category', 'type', 'actor', 'target', 'job'] as const

/** The filters that an address has. */
export type FilterParams<Names extends readonly string[]> = { readonly [N in Names[number]]?: string }
