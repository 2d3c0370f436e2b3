// The form for the settings of the identity provider. [contract 11.oidc]
import { Button, Checkbox, Group, PasswordInput, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import type { ListedRegion } from '../../../domain/fleet/site/sites.ts'
import { GroupRoles } from './group-roles.tsx'
import { changesProvider, type IdentityDraft, isComplete } from './identity-draft.ts'

interface IdentityFormProps {
  readonly stored: IdentityDraft
  readonly draft: IdentityDraft
  readonly hasClientSecret: boolean
  readonly isEnabled: boolean
  readonly regions: readonly ListedRegion[]
  readonly isChanged: boolean
  readonly isBusy: boolean
  readonly onChange: (draft: IdentityDraft) => void
  readonly onSave: () => void
}

export function IdentityForm(props: IdentityFormProps) {
  const { stored, draft, hasClientSecret, isEnabled, regions, isChanged, isBusy, onChange } = props
  const set = (change: Partial<IdentityDraft>) => onChange({ ...draft, ...change })
  const isOtherProvider = changesProvider(stored, draft)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onSave()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={640}>
        <TextInput
          label="Issuer"
          description="The address of the provider, for example https://login.example.org"
          value={draft.issuer}
          onChange={(event) => set({ issuer: event.currentTarget.value })}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput
          label="Client ID"
          value={draft.clientId}
          onChange={(event) => set({ clientId: event.currentTarget.value })}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
        />
        <PasswordInput
          label="Client secret"
          description={
            hasClientSecret && !isOtherProvider
              ? 'A secret is stored. Leave this empty to keep it.'
              : 'Leave this empty if the provider gave you none.'
          }
          value={draft.clientSecret}
          onChange={(event) => set({ clientSecret: event.currentTarget.value })}
          maxLength={1000}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide secret' }}
        />
        {hasClientSecret && draft.clientSecret === '' && (
          <Checkbox
            label="Remove the stored secret"
            checked={draft.removesSecret}
            onChange={(event) => set({ removesSecret: event.currentTarget.checked })}
          />
        )}
        {isOtherProvider && (
          <Text fz="sm" c="var(--rk-degraded)">
            A new issuer or client ID removes the stored secret and the linked company accounts of all people, and ends
            the sessions that began with them. People without a passkey can then sign in at the new provider with the
            same e-mail address. Owners without a passkey need a sign-in link.
          </Text>
        )}
        <TagsInput
          label="Scopes"
          description="What to ask the provider for. openid is always included."
          value={[...draft.scopes]}
          onChange={(scopes) => set({ scopes })}
          maxTags={10}
        />
        <TextInput
          label="Groups claim"
          description="The claim that has the groups of a person."
          value={draft.groupsClaim}
          onChange={(event) => set({ groupsClaim: event.currentTarget.value })}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
        />
        <GroupRoles value={draft.groupRoles} regions={regions} onChange={(groupRoles) => set({ groupRoles })} />
        <Checkbox
          label="Create people at their first sign-in"
          description="Only with a role by group. Others have to be invited."
          checked={draft.createUsers}
          onChange={(event) => set({ createUsers: event.currentTarget.checked })}
        />
        <TagsInput
          label="Trusted domains"
          description="E-mail addresses of these domains count as verified. Add only domains whose addresses the provider controls."
          placeholder={draft.trustedDomains.length === 0 ? 'example.org' : undefined}
          value={[...draft.trustedDomains]}
          onChange={(trustedDomains) => set({ trustedDomains })}
          maxTags={20}
        />
        {isEnabled && isChanged && (
          <Text fz="sm" c="var(--rk-degraded)">
            Saving turns company accounts off until you have tested the new settings. Passkeys and links keep working.
          </Text>
        )}
        <Group>
          <Button type="submit" loading={isBusy} disabled={!isChanged || !isComplete(draft)}>
            Save settings
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
