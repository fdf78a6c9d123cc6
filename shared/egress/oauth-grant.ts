/**
 * How to obtain an access token: plain data that a kind derives from its settings. The sender requests the token and
 * adds it to the request (`shared/egress/oauth`).
 */
export type OAuthGrant = {
  readonly tokenUrl: string;
  readonly by: OAuthProof;
  /** The client's credentials; absent for a service account, whose signature proves its identity. */
  readonly client?: OAuthClient;
  /** Scopes separated by spaces. */
  readonly scope?: string;
  /** Parameters that the platform requires in addition to the standard ones. */
  readonly parameters?: Readonly<Record<string, string>>;
};

/** How the platform is asked for a token, by grant type. */
export type OAuthProof =
  /** RFC 6749, section 6. */
  | { readonly kind: 'refresh-token'; readonly refreshToken: string }
  /** RFC 6749, section 4.4. */
  | { readonly kind: 'client-credentials' }
  /** A JSON Web Token signed with the account's key, RFC 7523, section 2.1. */
  | {
      readonly kind: 'service-account';
      readonly issuer: string;
      readonly keyId: string | undefined;
      /** RSA, PEM. */
      readonly privateKey: string;
    };

export type OAuthClient = {
  readonly id: string;
  readonly secret: string;
  /** Where the platform expects client id and secret (RFC 6749, section 2.3.1). */
  readonly sentIn: 'body' | 'basic';
};

/** The grant for the token that the sender puts into the Authorization header of a request. */
export type OAuthNeed = {
  readonly grant: OAuthGrant;
  /** The scheme in front of the token; defaults to `Bearer`. */
  readonly scheme?: string;
};
