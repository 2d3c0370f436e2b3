// Settings: the keys that let programs and people in, the users on record, and what this installation is.
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { AboutSection } from './about-section.tsx'
import { KeysMissing, KeysSection } from './keys-section.tsx'
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
        <KeysMissing />
      )}
      <LoadingBoundary>
        <UsersSection />
      </LoadingBoundary>
      <AboutSection />
    </Page>
  )
}
