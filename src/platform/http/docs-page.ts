// placeholder until the page is written
export const docsPage = () => ({ html: '', contentSecurityPolicy: '' })
