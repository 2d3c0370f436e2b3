// The permissions of callers: those of roles and keys, and those that an operation needs. [contract 11.user]
import type { Operation } from '../operation.ts'

export const roles = ['owner', 'admin', 'operator', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Scopes that a key or a person has. Write contains operate. */
export const scopes = ['read', 'operate', 'write'] as const
export type CallerScope = (typeof scopes)[number]

/** `everywhere` is the right to change what all regions share, `audit` the right to read the audit log. */
export type Permission = CallerScope | 'manage' | 'everywhere' | 'audit'
export type Permissions = Readonly<Record<Permission, boolean>>

export const permissionsOfRole = (role: Role, allRegions: boolean): Permissions => {
  const isOwner = role === 'owner'
  const isAdmin = isOwner || role === 'admin'
  return {
    read: true,
    operate: role !== 'viewer',
    write: isAdmin,
    manage: isOwner,
    everywhere: isOwner || (isAdmin && allRegions),
    audit: isAdmin,
  }
}

interface KeyAttributes {
  readonly read: boolean
  readonly operate: boolean
  readonly write: boolean
  readonly manage: boolean
  /** Whether the key sees all regions. */
  readonly allRegions: boolean
}

export const permissionsOfKey = ({ read, operate, write, manage, allRegions }: KeyAttributes): Permissions => ({
  read,
  operate: operate || write,
  write,
  manage,
  everywhere: write && allRegions,
  audit: read,
})

/** A personal key has a permission if the key and its person both have it. */
export const permissionsOfBoth = (a: Permissions, b: Permissions): Permissions => ({
  read: a.read && b.read,
  operate: a.operate && b.operate,
  write: a.write && b.write,
  manage: a.manage && b.manage,
  everywhere: a.everywhere && b.everywhere,
  audit: a.audit && b.audit,
})

/** The permissions that an operation needs, all of them. There is no second list. */
export const neededPermissions = ({ scope, operate, manage, everywhere, auditLog }: Operation): Permission[] => [
  operate ? 'operate' : scope,
  ...(manage ? (['manage'] as const) : []),
  ...(everywhere ? (['everywhere'] as const) : []),
  ...(auditLog ? (['audit'] as const) : []),
]

/** The roles that have a permission. `everywhere` needs an admin of all regions. */
export const rolesWith = (permission: Permission): Role[] =>
  roles.filter((role) => permissionsOfRole(role, true)[permission])
