// Regions: what their operations take and give.

import Type from 'typebox'
import { largeBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import { Empty, IdAndName, Int32, ListOf, Name, Shape } from '../shape.ts'
import { ExternalId, SentExternalId } from './custom-fields.ts'

export const Region = Shape('webpageRegion', {
  id: Int32('Identifier of the region.'),
  name: Type.String({ description: 'Name of the region.' }),
  locations: Type.Array(IdAndName('webpageRegionLocation', 'location'), {
    description: 'The locations that are assigned to the region.',
  }),
  externalId: ExternalId('regions'),
})

const id = Int32('Identifier of the region.')
const body = { name: Name('region'), externalId: SentExternalId('regions') }
const example = { id: 11, name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ' }] }

export const regionOperations = {
  regionsList: operation({
    method: 'GET',
    path: '/regions',
    tag: 'Regions',
    scope: 'read',
    summary: 'List all regions and the locations assigned to them',
    response: ListOf('webpageRegionList', 'regions', Region),
    example: { response: { regions: [example] } },
  }),
  regionsGet: operation({
    method: 'GET',
    path: '/regions/{id}',
    tag: 'Regions',
    scope: 'read',
    summary: 'Read one region with the locations assigned to it',
    params: { id },
    response: Region,
    versioned: true,
    example: { params: { id: 11 }, response: example },
  }),
  regionsCreate: operation({
    method: 'POST',
    path: '/regions',
    tag: 'Regions',
    scope: 'write',
    everywhere: true,
    summary: 'Create a region',
    body: Shape('RegionsCreateRequest', body),
    bodyLimitBytes: mediumBodyBytes,
    response: Region,
    versioned: true,
    audit: { category: 'ORG', type: 'REGION_CREATED' },
    example: { body: { name: 'Europe' }, response: { ...example, locations: [] } },
  }),
  regionsUpdate: operation({
    method: 'PUT',
    path: '/regions/{id}',
    tag: 'Regions',
    scope: 'write',
    everywhere: true,
    summary: 'Change the name and the external id of a region',
    description: 'An absent `externalId` stays, and null clears it.',
    params: { id },
    body: Shape('RegionsUpdateRequest', body),
    bodyLimitBytes: largeBodyBytes,
    response: Type.Object(Region.properties, { title: 'webpageUpdateRegionResponse' }),
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'REGION_UPDATED' },
    example: { params: { id: 11 }, body: { name: 'Europe' }, response: example },
  }),
  regionsDelete: operation({
    method: 'DELETE',
    path: '/regions/{id}',
    tag: 'Regions',
    scope: 'write',
    everywhere: true,
    summary: 'Delete a region that no location is assigned to',
    description: 'Fails with FAILED_PRECONDITION while any location is assigned to the region.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'REGION_DELETED' },
    example: { params: { id: 11 }, response: {} },
  }),
}
