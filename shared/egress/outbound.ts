import type { OAuthNeed } from './oauth-grant.ts';

/** One request to the platform. The scheme of the URL may name a protocol other than HTTP. */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The body if it was built as bytes; then `body` is absent. */
  readonly bodyBytes?: Buffer;
  /** Token for the Authorization header, which the sender adds because only the sender can request a token. */
  readonly oauth?: OAuthNeed;
  /**
   * The request to send after this request was accepted, for platforms that need several calls per event. A retry sends
   * all requests again, so each must be idempotent.
   */
  readonly next?: OutboundRequest;
  /**
   * Builds the next request from the response, for platforms whose later calls use ids from earlier responses.
   * Returns undefined if no further call is needed.
   */
  readonly nextOf?: (answer: OutboundAnswer) => OutboundRequest | undefined;
};

/** Maximum bytes of a response's body that are read. A longer body is truncated, and ends the connection. */
export const answerBodyBytesMax = 1024 * 1024;

/** The platform's response; the sender limits `body`, which may be truncated. */
export type OutboundAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether `body` lacks a part of the response's body. */
  readonly isCut?: boolean;
};
