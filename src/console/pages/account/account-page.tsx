// The page of the signed-in person: role and regions, sessions, passkeys and personal keys. [contract 11.local]
import { Button, Modal, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { regionsLine, useOwnRegionNames } from '../../domain/fleet/site/own-regions.ts'
import { roleNames, roleTexts } from '../../domain/people/person/roles.ts'
import { EmptyState, LoadingBoundary, Page, Section } from '../../parts/page/page.tsx'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useSession } from '../../session.ts'
import { CompanyAccountSection } from './company-account-section.tsx'
import { OwnKeysSection } from './own-keys-section.tsx'
import { OwnNameForm } from './own-name-form.tsx'
import { OwnSessionsSection } from './own-sessions-section.tsx'
import { PasskeysSection } from './passkeys-section.tsx'

export function AccountPage() {
  const { user, key } = useSession()
  if (!user) {
    return (
      <Page title="My profile">
        <EmptyState title={`You are signed in with the API key ${key?.name ?? ''}`}>
          A key has no profile. Sign in as a person to see your sessions, passkeys and keys.
        </EmptyState>
      </Page>
    )
  }
  return (
    <Page title="My profile">
      <OwnDetailsSection />
      <CompanyAccountSection />
      <LoadingBoundary>
        <PasskeysSection />
      </LoadingBoundary>
      <LoadingBoundary>
        <OwnSessionsSection />
      </LoadingBoundary>
      <LoadingBoundary>
        <OwnKeysSection />
      </LoadingBoundary>
    </Page>
  )
}

function OwnDetailsSection() {
  const { user, org, allRegions } = useSession()
  const regionNames = useOwnRegionNames()
  const [isNaming, naming] = useDisclosure(false)
  if (!user) return null
  return (
    <Section
      title="Profile"
      actions={
        <Button variant="default" size="xs" onClick={naming.open}>
          Change name
        </Button>
      }
    >
      <DefinitionList
        definitions={[
          ['Name', user.name],
          ['E-mail address', user.email],
          ['Organisation', org.name],
          [
            'Role',
            <span key="role">
              {roleNames[user.role]}
              <Text fz="xs" c="dimmed">
                {roleTexts[user.role]}
              </Text>
            </span>,
          ],
          ['Regions', allRegions ? 'All regions' : regionNames && (regionNames.join(', ') || regionsLine(regionNames))],
        ]}
      />
      <Text fz="xs" c="dimmed" mt="sm">
        An owner can change the others under Settings, People.
      </Text>
      <Modal opened={isNaming} onClose={naming.close} title="Change name">
        <OwnNameForm name={user.name} onClose={naming.close} />
      </Modal>
    </Section>
  )
}
