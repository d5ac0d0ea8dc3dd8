curl {{ base_url }}/v1/me
