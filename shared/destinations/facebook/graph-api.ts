/** The Graph API of Meta: where it is, and the version that is asked where nobody names one. */
export const graphApi = { url: 'https://graph.facebook.com', version: 'v27.0' } as const;
