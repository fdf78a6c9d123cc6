/** Meta's Graph API: its address and the default version. */
export const graphApi = { url: 'https://graph.facebook.com', version: 'v27.0' } as const;
