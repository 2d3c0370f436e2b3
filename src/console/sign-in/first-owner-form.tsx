// Makes the first owner: the link of the first start asks for an e-mail address. [contract 11.local]
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../client/client.ts'
import { isEmailAddress } from '../domain/people/person/email-address.ts'
import { ErrorText } from '../parts/page/page.tsx'
import { signIn } from '../session.ts'
import { SignInCard } from './sign-in-card.tsx'

/** The server has not used up the link: it only lacks the e-mail address. */
export const isEmailRequired = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.status === 400 &&
  (error.body?.violations?.some(({ field }) => field === 'email' || field === 'body.email') ?? false)

export function FirstOwnerForm({ link }: { readonly link: string }) {
  const [email, setEmail] = useState('')
  const create = useMutation({ mutationFn: () => signIn({ link, email: email.trim() }) })
  const [isChecked, setChecked] = useState(false)
  const isEmail = isEmailAddress(email)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (isEmail) create.mutate()
  }
  return (
    <SignInCard title="Set up Roomkeeper">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text>
            You become the first owner. Owners see everything, and manage people, keys, sign-in and notifications.
          </Text>
          <TextInput
            type="email"
            label="Your e-mail address"
            description="Shown to other people and in the audit log. If a mail server is set up, sign-in links are sent to it."
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            onBlur={() => setChecked(email !== '')}
            error={isChecked && !isEmail && 'Enter an e-mail address, such as ada@example.org.'}
            maxLength={254}
            autoComplete="email"
            autoFocus
          />
          <ErrorText error={create.error} />
          <Button type="submit" loading={create.isPending} fullWidth>
            Create owner
          </Button>
        </Stack>
      </form>
    </SignInCard>
  )
}
