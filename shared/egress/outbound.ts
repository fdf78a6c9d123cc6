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
   * Sent after this one was accepted, for platforms that need several calls for one event. A retry sends all of them
   * again, so each must be idempotent.
   */
  readonly next?: OutboundRequest;
  /**
   * Builds the following request from the response, for platforms whose later calls use ids from earlier responses.
   * Undefined: no further call.
   */
  readonly nextOf?: (answer: OutboundAnswer) => OutboundRequest | undefined;
};

/** The platform's response; the sender limits `body`, which may be truncated. */
export type OutboundAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
