import type { OAuthNeed } from './oauth-grant.ts';

/** One HTTP request to the platform. */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The body if it was built as bytes; then `body` is absent. */
  readonly bodyBytes?: Buffer;
  /** The sender adds the Authorization header: only it can ask for a token. */
  readonly oauth?: OAuthNeed;
  /**
   * Sent once this one was accepted, for platforms that need several calls for one event. A retry sends all of them again,
   * so each must be harmless when repeated.
   */
  readonly next?: OutboundRequest;
  /** The same, made of the answer: for platforms whose later calls name ids that they gave. Undefined: nothing follows. */
  readonly nextOf?: (answer: OutboundAnswer) => OutboundRequest | undefined;
};

/** The platform's answer; `body` is bounded by the sender and may be cut. */
export type OutboundAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
