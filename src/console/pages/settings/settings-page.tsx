// Settings: the keys that let programs and people in, the users on record, and what this installation is.
import { Page, Waiting } from '../../parts/page/page.tsx'
import { useMay } from '../../session.ts'
import { AboutSection } from './about-section.tsx'
import { KeysMissing, KeysSection } from './keys-section.tsx'
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
        <KeysMissing />
      )}
      <Waiting>
        <UsersSection />
      </Waiting>
      <AboutSection />
    </Page>
  )
}
