import { expect, test } from 'vitest';
import { sourceKinds } from '../../../shared/sources/registry.ts';
import { sourcesPage } from './sources-page.ts';

test('sources page: states each kind’s type, where to set it up, how requests are verified, and the provider’s pages', () => {
  const page = sourcesPage();
  for (const { label, type, setUp, signature, follows } of sourceKinds) {
    const part = page.slice(page.indexOf(`## ${label}\n`)).split('\n## ')[0] ?? '';
    expect(part).toContain(`\`${type}\``);
    expect(part).toContain(setUp);
    expect(part).toContain(signature?.label ?? '| Signature | not checked |');
    for (const address of follows) expect(part).toContain(address);
  }
});
