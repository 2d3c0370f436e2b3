// The states of an incident. [contract 10.states]

export const incidentStates = ['OPEN', 'ACKNOWLEDGED', 'RESOLVED', 'MERGED'] as const
export type IncidentState = (typeof incidentStates)[number]

/** People may still have to do something about an incident in one of these. */
export const openStates = ['OPEN', 'ACKNOWLEDGED'] as const satisfies readonly IncidentState[]
export const isOpenState = (state: IncidentState): boolean => openStates.some((open) => open === state)
