// Shows the organisation and the version of this installation, with links to the API documents.
import { Anchor, Code, Group } from '@mantine/core'
import { Fragment } from 'react'
import { pathUnderBase } from '../../base-path.ts'
import { Section } from '../../parts/page/page.tsx'
import { DefinitionList } from '../../parts/text/definition-list.tsx'
import { useSession } from '../../session.ts'

export function AboutSection() {
  const { org, version, commit } = useSession()
  return (
    <Section title="About">
      <DefinitionList
        definitions={[
          [
            'Organisation',
            <Fragment key="organisation">
              {org.name} <Code>{org.id}</Code>
            </Fragment>,
          ],
          ['Version', `Roomkeeper ${version}${commit ? `, commit ${commit}` : ''}`],
          ['API', <Documents key="documents" />],
        ]}
      />
    </Section>
  )
}

const Documents = () => (
  <Group gap="md">
    <Anchor href={pathUnderBase('/docs')} target="_blank" rel="noreferrer" fz="sm">
      API reference
    </Anchor>
    <Anchor href={pathUnderBase('/openapi.json')} target="_blank" rel="noreferrer" fz="sm">
      OpenAPI document
    </Anchor>
  </Group>
)
