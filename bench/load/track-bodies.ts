/** Track payloads of about 340 bytes, as a shop's server sends them; visitors differ, the shape does not. */
export function trackBodies(token: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      token,
      event: 'Product Viewed',
      externalId: `customer-${i}`,
      properties: {
        product_id: `sku-${(i * 7919) % 10_000}`,
        name: 'Walnut desk with two drawers',
        price: 249.5,
        currency: 'EUR',
        category: 'furniture/desks',
      },
      defaultProperties: { current_url: 'https://shop.example/desks/walnut', referrer: 'https://search.example/' },
    }),
  );
}
