// The settings page shows API keys, users and information about the installation.
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { AboutSection } from './about-section.tsx'
import { KeysSection, NoKeyAccess } from './keys-section.tsx'
import { UsersSection } from './users-section.tsx'

export function SettingsPage() {
  const { manage } = usePermissions()
  return (
    <Page title="Settings">
      {manage ? (
        <LoadingBoundary>
          <KeysSection />
        </LoadingBoundary>
      ) : (
        <NoKeyAccess />
      )}
      <LoadingBoundary>
        <UsersSection />
      </LoadingBoundary>
      <AboutSection />
    </Page>
  )
}
