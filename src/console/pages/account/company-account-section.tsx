// Lets the signed-in person add their company account, if the organisation has an identity provider. [contract 11.oidc]
import { Button, Text } from '@mantine/core'
import { pathUnderBase } from '../../base-path.ts'
import { useSignInWays } from '../../domain/people/sign-in/sign-in-ways.tsx'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { Section } from '../../parts/page/page.tsx'
import { useSession } from '../../session.ts'

export function CompanyAccountSection() {
  const { org } = useSession()
  const { data: ways } = useSignInWays()
  const provider = ways?.providers.find(({ orgId }) => orgId === org.id)
  if (!provider) return null
  const url = pathUnderBase(`/auth/${org.id}/oidc?returnTo=/account`)
  return (
    <Section
      title="Company account"
      actions={
        <Button component="a" href={url} size="xs" leftSection={<PlusIcon size={16} />}>
          Add company account
        </Button>
      }
    >
      <Text fz="sm" c="dimmed">
        Sign in at your company once, with the same e-mail address. From then on you can sign in here with that account.
      </Text>
    </Section>
  )
}
