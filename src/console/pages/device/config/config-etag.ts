// Makes the ETag of a config version, with which a write fails if another person has made another version. [contract 7.9]

/** The ETag of the settings is not used: it changes with every report of the device, and a report does not outdate a draft. */
export const configEtag = (version: number): string => `"${version}"`
