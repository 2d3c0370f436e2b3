// The person or team to ask; an e-mail address is a link.

const addressPattern = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

export const ContactText = ({ contact }: { readonly contact: string }) =>
  addressPattern.test(contact) ? <a href={`mailto:${contact}`}>{contact}</a> : contact
