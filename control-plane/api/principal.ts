/** Who makes a request: an API key, and the account it belongs to. */
export type Principal = {
  readonly accountId: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: readonly string[];
};
