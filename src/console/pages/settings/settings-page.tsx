// The settings page shows API keys, users and information about the installation.
import { Page, Waiting } from '../../parts/page/page.tsx'
import { useMay } from '../../session.ts'
import { AboutSection } from './about-section.tsx'
import { KeysSection, NoKeyAccess } from './keys-section.tsx'
import { UsersSection } from './users-section.tsx'

export function SettingsPage() {
  const { manage } = useMay()
  return (
    <Page title="Settings">
      {manage ? (
        <Waiting>
          <KeysSection />
        </Waiting>
      ) : (
        <NoKeyAccess />
      )}
      <Waiting>
        <UsersSection />
      </Waiting>
      <AboutSection />
    </Page>
  )
}
