/** The Graph API of Meta: where it is, and the version used where the settings name none. */
export const graphApi = { url: 'https://graph.facebook.com', version: 'v27.0' } as const;
