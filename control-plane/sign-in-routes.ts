import type { FastifyInstance } from 'fastify';
import type { Logger } from '../shared/runtime/logger.ts';
import type { ControlPlaneEnv } from './env.ts';
import { addSingleSignOnRoutes } from './single-sign-on/single-sign-on-routes.ts';
import type { Logins } from './sessions/open-logins.ts';
import { addSessionRoutes } from './sessions/session-routes.ts';
import { readSignInSettings } from './sessions/sign-in-settings.ts';

export type SignInParts = {
  readonly logins: Logins;
  readonly logger: Logger;
  /** Ends the account's live streams whose sign-in has ended. */
  recheckStreams(accountId: string): Promise<void>;
};

/** Signs browsers in: with a key, a link, or single sign-on. */
export function addSignInRoutes(app: FastifyInstance, env: ControlPlaneEnv, parts: SignInParts): void {
  const { logins, logger, recheckStreams } = parts;
  const { singleSignOn: settings } = readSignInSettings(env);
  const singleSignOn = settings === undefined ? null : (settings.label ?? 'single sign-on');
  addSessionRoutes(app, { ...logins, singleSignOn, recheckStreams });
  addSingleSignOnRoutes(app, { ...logins, settings, logger });
}
