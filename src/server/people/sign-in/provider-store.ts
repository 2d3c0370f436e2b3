// Holds the SQL that finds the identity providers of all organisations, for the sign-in page.

import { systemQuery } from '../../db/system.ts'

export const listIdentityProviders = systemQuery((db, _: object) =>
  db
    .selectFrom('identity_providers as i')
    .innerJoin('orgs as o', 'o.key', 'i.org')
    .select(['o.id as orgId', 'o.name as orgName', 'i.settings'])
    .orderBy('o.key'),
)
