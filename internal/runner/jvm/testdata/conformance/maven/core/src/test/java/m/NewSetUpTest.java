package m;

import org.junit.jupiter.api.*;

class NewSetUpTest {
    @BeforeEach
    void prepare() {
        Calc.reset();
    }

    @Test
    void taken() {}
}
