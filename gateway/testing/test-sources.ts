import type { TestSource } from './test-log.ts';

const source = (id: string, type: string, settings: Readonly<Record<string, unknown>> = {}): TestSource => ({
  token: `src_live_${id}_0123456789`,
  testToken: `src_test_${id}_0123456789`,
  entity: { id, name: id, type, status: 'Enabled', ...settings },
});

/** One source for each combination of settings that changes how requests are treated. */
export const testSources = {
  server: source('server', 'NodejsApi'),
  web: source('web', 'WebSource'),
  domains: source('domains', 'WebSource', { whitelistDomains: ['example.com', 'https://shop.test/cart'] }),
  addresses: source('addresses', 'NodejsApi', { whitelistIps: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'] }),
  brokenAddresses: source('broken-addresses', 'NodejsApi', { whitelistIps: ['no address'] }),
  disabled: source('disabled', 'NodejsApi', { status: 'Disabled' }),
  discreet: source('discreet', 'NodejsApi', { excludeRequestContext: true }),
  bots: source('bots', 'WebSource', { botControlMode: 'Block' }),
  link: source('link', 'RedirectSource', { redirectUrl: 'https://example.com/landing?a=b' }),
  badLink: source('bad-link', 'RedirectSource', { redirectUrl: 'javascript:alert(1)' }),
  hook: source('hook', 'Webhook', { name: 'Order hook' }),
} as const;

/** A source of a provider's type. With a sealed secret, its requests must be signed. */
export const providerSource = (type: string, signingSecret: string | null = null): TestSource =>
  source(`${type}${signingSecret === null ? '' : '-signed'}`, type, { signingSecret });

export const allTestSources: readonly TestSource[] = Object.values(testSources);
